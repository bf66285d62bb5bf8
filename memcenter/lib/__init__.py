"""Shared helpers, which any module may import and which import no app."""
