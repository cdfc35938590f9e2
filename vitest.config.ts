import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    maxWorkers: 2,
    hookTimeout: 120_000,
    projects: [
      { test: { name: 'unit', include: ['test/shared/**/*.test.ts'] } },
      {
        test: {
          name: 'integration',
          include: ['test/functions/**/*.test.ts', 'test/contract/**/*.test.ts', 'test/local/**/*.test.ts'],
          globalSetup: ['test/support/stack.ts'],
          setupFiles: ['test/support/environment.ts'],
          testTimeout: 30_000,
        },
      },
      // Loading the CDK takes longer than these tests, so their files share it.
      { test: { name: 'infra', include: ['test/infra/**/*.test.ts'], isolate: false, testTimeout: 120_000 } },
    ],
  },
});
