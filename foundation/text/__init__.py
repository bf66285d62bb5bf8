"""Text functions: search terms, stop words, tokens, Markdown, and detection of copied text.

The package doesn't depend on any app.
"""
