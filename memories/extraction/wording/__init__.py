"""Put memories into the person's own words, and find their dates, languages and topics."""
