"""The Python and TypeScript clients, and the code that generates parts of them (`make clients`)."""
