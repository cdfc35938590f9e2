import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/clients/longest-first.ts';

/** Files that take long or much of the processor: `npm run test:long` runs them, and `npm test` does not. */
const slow = 'test/**/*.slow.test.ts';

/**
 * Files about what two processes could see differently: lists and cursors, races, accounts, files and mail.
 * `npm run test:bundled` runs them on the bundles, in a few minutes.
 */
const bundled = 'test/**/*.bundled{,.slow}.test.ts';

const everywhere = ['test/support/clients/end-with-main.ts'];

const onStack = {
  include: [
    'test/functions/**/*.test.ts',
    'test/contract/**/*.test.ts',
    'test/local/**/*.test.ts',
    'test/console/**/*.test.ts',
    'test/client/**/*.test.ts',
    'test/cli/**/*.test.ts',
  ],
  setupFiles: [...everywhere, 'test/support/clients/environment.ts'],
};

/** Files that start processes of their own, which need the cores. Vitest runs groups one after the other. */
const heavy = { maxWorkers: 2, sequence: { groupOrder: 2 } };

/** Files of one worker, which loads what is installed once; end-of-file.ts keeps them apart. */
const shared = {
  isolate: false,
  sequence: { setupFiles: 'list' as const },
  setupFiles: [...everywhere, 'test/support/clients/end-of-file.ts'],
};

const onBundles = {
  ...onStack,
  ...shared,
  ...heavy,
  sequence: { ...shared.sequence, ...heavy.sequence },
  setupFiles: [...shared.setupFiles, ...onStack.setupFiles],
  globalSetup: ['test/support/clients/bundles.ts', 'test/support/clients/stack.ts'],
  hookTimeout: 600_000,
};

export default defineConfig({
  test: {
    // Tests wait for the local stack a third of their time, so more workers than cores are faster.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst, groupOrder: 1 },
    // A busy machine takes its time; nothing is asserted to be quick, and no test has a second try.
    hookTimeout: 300_000,
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    projects: [
      {
        test: { ...shared, name: 'unit', include: ['test/shared/**/*.test.ts', 'test/{schedules,fuzz}/**/*.test.ts'] },
      },
      {
        test: {
          ...onStack,
          ...shared,
          name: 'integration',
          exclude: [slow],
          setupFiles: [...shared.setupFiles, ...onStack.setupFiles],
          globalSetup: ['test/support/clients/stack.ts'],
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
      // The same with every function in processes of its own, each of which has to start.
      { test: { ...onBundles, name: 'bundled', include: [bundled] } },
      { test: { ...onBundles, name: 'bundled-rest', exclude: [bundled] } },
      // What takes minutes by its nature; `npm run test:long` runs it.
      {
        test: {
          ...heavy,
          name: 'long',
          include: ['test/long/**/*.test.ts', slow],
          globalSetup: ['test/support/clients/stack.ts'],
          setupFiles: onStack.setupFiles,
          testTimeout: 900_000,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
      // A deployment to an emulator of AWS; `npm run test:deploy` runs it.
      {
        test: {
          ...heavy,
          name: 'deploy',
          include: ['test/rehearsal/**/*.test.ts'],
          setupFiles: everywhere,
          testTimeout: 900_000,
          hookTimeout: 1_800_000,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
      // Loading the CDK takes longer than these tests, so one worker runs all of them, while the linter and the type
      // checks use the other core. Where its constructs were made is not looked up.
      {
        test: {
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
          name: 'infra',
          include: ['test/infra/**/*.test.ts'],
          exclude: [slow],
          isolate: false,
          setupFiles: everywhere,
          env: { CDK_DISABLE_STACK_TRACE: '1' },
        },
      },
    ],
  },
});
