/* Which sources the library was built from. */

const char *built_from(void) { return BUILT_FROM; }
