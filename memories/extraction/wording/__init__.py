"""The words of a memory: the person's own, with dates, languages and topics."""
