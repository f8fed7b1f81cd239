"""Boards, pieces and cards as drawings and as PDF."""
