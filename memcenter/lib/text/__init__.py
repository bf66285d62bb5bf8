"""Text: terms, tokens, stop words, Markdown, containment."""
