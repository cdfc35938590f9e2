import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
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
      { test: { name: 'infra', include: ['test/infra/**/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
});
