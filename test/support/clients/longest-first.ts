import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, most of them by waiting for what is down: whatever is beside them at the end would wait
 * too. The first of them waits for as long as one worker takes to load the CDK and run all that needs it.
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

/** Before the rest, in the order above; the rest as vitest has it: what took longest last time, or the largest file. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((part) => moduleId.includes(`/${part}`));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
