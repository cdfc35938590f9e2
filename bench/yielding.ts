import { writeFile } from 'node:fs/promises';

// Linux shares its processors between sessions first, so `nice` alone has little effect.
if (process.env.BENCH_YIELDS) await writeFile('/proc/self/autogroup', '10').catch(() => undefined);
