"""Open the reader's ONNX files."""

from pathlib import Path

import onnxruntime


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Open an ONNX file for single-threaded use, without an arena that would retain memory."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
