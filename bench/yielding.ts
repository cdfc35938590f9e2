import { writeFile } from 'node:fs/promises';

// Linux shares its processors between sessions first, so that the niceness of a process is not enough.
if (process.env.BENCH_YIELDS) await writeFile('/proc/self/autogroup', '10').catch(() => undefined);
