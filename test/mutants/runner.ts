import path from 'node:path';
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node';

// A process that runs test files on request and keeps the local stack between the requests. Its parent gets the first
// failed test of each run, if there is one.

const root = path.resolve(import.meta.dirname, '../..');

/** In the order of the request. */
class AsAsked extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

const vitest = await createVitest('test', {
  root,
  watch: false,
  bail: 1,
  maxWorkers: 1,
  project: ['unit', 'integration', 'long'],
  reporters: [{ onInit: () => undefined }],
  sequence: { sequencer: AsAsked },
});
const known = new Map(
  (await vitest.globTestSpecifications()).map((each) => [path.relative(root, each.moduleId), each]),
);

const run = async (files: readonly string[]): Promise<string | undefined> => {
  vitest.state.filesMap.clear();
  vitest.state.idMap.clear();
  const specifications = files.flatMap((file) => known.get(file) ?? []);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  for (const module of testModules) {
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      if (state === 'failed') return `${test.fullName}: ${errors?.[0]?.message.split('\n', 1)[0]}`;
    }
    for (const suite of [module, ...module.children.allSuites()]) {
      const [error] = suite.errors();
      if (error) return error.message.split('\n', 1)[0];
    }
  }
  const [error] = unhandledErrors;
  return error === undefined ? undefined : String((error as Error).message ?? error).split('\n', 1)[0];
};

process.on('message', (files: readonly string[]) => {
  run(files).then(
    (failed) => process.send?.({ failed }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});
process.on('disconnect', () => process.exit(1));
process.send?.({ ready: true });
