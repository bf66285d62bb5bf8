"""Read messages: candidates, summaries, verdicts on candidates. Plain values, no Django."""
