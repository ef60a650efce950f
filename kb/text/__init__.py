"""Words and sentences: which language, which words carry meaning, where a sentence ends, what is small talk."""
