import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../support/fixtures/project.ts';

const folders: CommandFolder[] = [];

const linkedTo = async (project: TestProject): Promise<CommandFolder> => {
  const folder = await newLinkedFolder(project);
  folders.push(folder);
  return folder;
};

afterAll(async () => void (await Promise.all(folders.map((folder) => folder.remove()))));

const values = { String: 'text', Number: 5, Boolean: true } as const;
type Type = keyof typeof values;

/** A key always has the same type, and none that JSON has not, so that documents fit every schema. */
const typeOf: Readonly<Record<string, Type>> = {
  a: 'String',
  b: 'Number',
  c: 'Boolean',
  d: 'Boolean',
  e: 'String',
  f: 'Number',
};

const field = fc
  .record({ key: fc.constantFrom(...Object.keys(typeOf)), required: fc.boolean(), isNested: fc.boolean() })
  .map(({ key, required, isNested }) => {
    const type = typeOf[key] ?? 'String';
    const inner = { key: `in_${key}`, type: 'Object', fields: [{ key, type, required }] };
    return isNested ? inner : { key, type, required };
  });

const rls = fc.constantFrom(
  undefined,
  { enabled: true, mode: 'private' },
  { enabled: true, mode: 'signed-in', ownerField: 'owner' },
  { enabled: true, mode: 'rules', rules: { read: true } },
  { enabled: true, mode: 'rules', ownerField: 'owner', trash: 'owner', rules: { read: { owner: 'a' } } },
);

const collection = fc.record(
  {
    schema: fc.oneof(
      fc.constant(null),
      fc.uniqueArray(field, { minLength: 1, maxLength: 6, selector: ({ key }) => key }),
    ),
    rls,
    changes: fc.boolean(),
    indexes: fc.uniqueArray(
      fc.constantFrom('a', 'b', 'c').map((path) => ({ keys: { [path]: 1 } })),
      {
        selector: ({ keys }) => Object.keys(keys).join(),
      },
    ),
  },
  { requiredKeys: ['schema'] },
);

const collections = fc.dictionary(fc.constantFrom('one', 'two', 'three'), collection, { minKeys: 1 });

/** A document that has a value for every field, so that required fields never conflict. */
const document = {
  ...Object.fromEntries(Object.entries(typeOf).map(([key, type]) => [key, values[type]])),
  ...Object.fromEntries(Object.entries(typeOf).map(([key, type]) => [`in_${key}`, { [key]: values[type] }])),
};

const push = (folder: CommandFolder, ...args: string[]) => folder.basalt(['push', '--yes', ...args]);

const countOf = async (project: TestProject, name: string): Promise<number> => {
  const path = `/api/projects/${project.id}/collections/${name}/documents?limit=100`;
  const list = await project.developer.dashboard<{ data: { items: unknown[] } }>('GET', path);
  expect(list.status).toBe(200);
  return list.body.data.items.length;
};

/** Stores two documents in every collection. */
const addDocuments = async (project: TestProject, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    for (let n = 0; n < 2; n += 1) {
      const path = `/api/projects/${project.id}/collections/${name}/documents`;
      const added = await project.developer.dashboard('POST', path, { ...document, owner: 'a' });
      expect(added.status).toBe(201);
    }
  }
};

const runs = { numRuns: 15 } as const;
let developer: Developer;

beforeAll(async () => {
  developer = await newDeveloper();
});

const projectOf = (): Promise<TestProject> => newProject([], developer);

test('a random schema that is pushed, changed and pushed again loses no document', async () => {
  await fc.assert(
    fc.asyncProperty(collections, collections, async (first, second) => {
      const project = await projectOf();
      const folder = await linkedTo(project);
      await folder.write('basalt.schema.json', { version: 1, collections: first });
      expect(await push(folder)).toMatchObject({ code: 0 });
      await addDocuments(project, Object.keys(first));
      await folder.write('basalt.schema.json', { version: 1, collections: second });
      const changed = await push(folder);
      // Without --allow-loss every collection stays with its documents, whether the push is accepted or not.
      for (const name of Object.keys(first)) expect(await countOf(project, name)).toBe(2);
      if (changed.code === 0) expect((await folder.basalt(['diff'])).code).toBe(0);
      else expect(changed.notes).toContain('--allow-loss');
      expect(await push(folder, '--allow-loss')).toMatchObject({ code: 0 });
      expect((await folder.basalt(['diff'])).code).toBe(0);
      for (const name of Object.keys(first).filter((each) => each in second))
        expect(await countOf(project, name)).toBe(2);
      await project.developer.dashboard('DELETE', `/api/projects/${project.id}`);
    }),
    runs,
  );
});

test('two projects that one random file is pushed to are equal by diff, and a pull repeats the file', async () => {
  await fc.assert(
    fc.asyncProperty(collections, async (wanted) => {
      const projects = [await projectOf(), await projectOf()] as const;
      const [one, other] = [await linkedTo(projects[0]), await linkedTo(projects[1])];
      for (const folder of [one, other]) {
        await folder.write('basalt.schema.json', { version: 1, collections: wanted });
        expect(await push(folder)).toMatchObject({ code: 0 });
      }
      expect((await one.basalt(['pull'])).code).toBe(0);
      expect((await other.basalt(['pull'])).code).toBe(0);
      expect(await other.read('basalt.schema.json')).toBe(await one.read('basalt.schema.json'));
      await other.write('basalt.schema.json', await one.read('basalt.schema.json'));
      expect((await other.basalt(['diff'])).code).toBe(0);
      for (const project of projects) await project.developer.dashboard('DELETE', `/api/projects/${project.id}`);
    }),
    runs,
  );
});
