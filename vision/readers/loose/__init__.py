"""Old: reads sites on which pieces lie loose. Its value: `reader.ClusterReader`."""
