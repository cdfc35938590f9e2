import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** What takes long or much of the processor: `npm run test:long` runs it, and `npm test` does not. */
const thorough = [
  'test/contract/bytes.test.ts',
  'test/contract/origins.test.ts',
  'test/contract/secrets.test.ts',
  'test/contract/strings.test.ts',
  'test/functions/dashboard/transfers/exports.test.ts',
  'test/functions/rate-blocks.test.ts',
  'test/functions/storage/sweep-limits.test.ts',
  'test/functions/user-auth/enumeration.test.ts',
  'test/local/durability.test.ts',
  'test/local/faults.test.ts',
];

const onStack = {
  include: ['test/functions/**/*.test.ts', 'test/contract/**/*.test.ts', 'test/local/**/*.test.ts'],
  setupFiles: ['test/support/environment.ts'],
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // A busy machine takes its time; nothing is asserted to be quick.
    hookTimeout: 300_000,
    testTimeout: 150_000,
    expect: { poll: { timeout: 60_000 } },
    // A machine that stood still for seconds makes calls time out; `scripts/test.ts` names every test that needed this.
    retry: { count: 1, delay: 1000 },
    projects: [
      { test: { name: 'unit', include: ['test/shared/**/*.test.ts'] } },
      {
        test: {
          ...onStack,
          name: 'integration',
          exclude: thorough,
          globalSetup: ['test/support/stack.ts'],
        },
      },
      // The same with every function in processes of its own, each of which has to start; `npm run test:bundled` runs
      // it.
      {
        test: {
          ...onStack,
          name: 'bundled',
          globalSetup: ['test/support/bundles.ts', 'test/support/stack.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      // What takes minutes by its nature; `npm run test:long` runs it.
      {
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts', ...thorough],
          globalSetup: ['test/support/stack.ts'],
          setupFiles: ['test/support/environment.ts'],
          testTimeout: 900_000,
        },
      },
      // Loading the CDK takes longer than these tests, so their files share it; where its constructs were made is not
      // looked up.
      {
        test: {
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          isolate: false,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
    ],
  },
});
