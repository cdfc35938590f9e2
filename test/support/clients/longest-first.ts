import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files. They run first, because at the end other files would wait for them. */
const longest = [
  'long/interrupted-operations.test.ts',
  'long/kill-9.test.ts',
  'long/memory.test.ts',
  'long/plans.test.ts',
  'long/bundles.test.ts',
  'long/bundled-start.test.ts',
  'histories/histories.slow.test.ts',
  'local/faults.slow.test.ts',
  'contract/secrets.slow.test.ts',
  'data/killed-writes.slow.test.ts',
  'long/ended-tests.test.ts',
  'jobs/every-job.slow.test.ts',
  'storage/sweep.slow.test.ts',
  'local/durability.slow.test.ts',
  'local/health.slow.test.ts',
  'long/purge.test.ts',
  'long/transfers.test.ts',
  'local/start.test.ts',
  'dashboard/database.test.ts',
  'functions/rate-limit.test.ts',
  'mail/provider-answers.test.ts',
  'user-auth/second-factor.test.ts',
  'contract/openapi-examples.test.ts',
];

/** Sorts these files first; the others stay in Vitest's order: the slowest of the last run, or the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((part) => moduleId.includes(`/${part}`));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
