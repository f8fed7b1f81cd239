"""What runs while people play: camera to verdict, configuration, club."""
