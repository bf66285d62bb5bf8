"""Text functions: search terms, tokens, stop words, Markdown, and containment of texts."""
