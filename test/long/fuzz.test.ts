import { afterAll } from 'vitest';

// The properties of test/contract with many more cases and another seed than `npm test` has time for.
process.env.FUZZ_RUNS ??= '500';
process.env.FUZZ_SEED ??= '8';
const { requestsFuzzed } = await import('../support/data/sound-answer.ts');

afterAll(() => {
  const { fuzzed, failed } = requestsFuzzed();
  process.stdout.write(`requests fuzzed: ${fuzzed}, answered 5xx: ${failed}\n`);
});

await import('../contract/fuzz.slow.test.ts');
await import('../contract/fuzz-edges.slow.test.ts');
