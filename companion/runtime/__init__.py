"""What runs while people play: from camera to verdict, configuration, club."""
