import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files, which mostly wait for failed services. They run first, because at the end other files would wait
 * for them. The first one takes as long as a worker needs for all CDK tests.
 */
const longest = [
  'local/faults.test.ts',
  'infra/',
  'local/health.test.ts',
  'local/start.test.ts',
  'contract/strings.test.ts',
  'data/own-database.test.ts',
  'contract/secrets.test.ts',
  'dashboard/database.test.ts',
  'contract/bytes.test.ts',
  'storage/faults.test.ts',
  'functions/rate-limit.test.ts',
  'mail/provider-answers.test.ts',
  'transfers/exports.test.ts',
  'user-auth/enumeration.test.ts',
  'local/durability.test.ts',
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
