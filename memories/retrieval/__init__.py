"""Rank texts for a question: words, meaning, fusion, scores; `stores` compares vectors."""
