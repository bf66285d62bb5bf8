"""Text functions: search terms, stop words, tokens, Markdown, and detection of copied text.

They use no app.
"""
