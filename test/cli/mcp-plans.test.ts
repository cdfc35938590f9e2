import { afterAll, beforeAll, expect, test } from 'vitest';
import { openProject } from '../../cli/src/linked-project.ts';
import { Plans } from '../../cli/src/mcp-push.ts';
import { processTerminal } from '../../cli/src/terminal.ts';
import { type CommandFolder, newLinkedFolder } from '../support/fixtures/command.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let project: TestProject;
let folder: CommandFolder;

beforeAll(async () => {
  project = await newProject();
  folder = await newLinkedFolder(project);
});

afterAll(() => folder.remove());

test.each([
  [5 * 60_000, 'expires'],
  [5 * 60_000 - 1, 'works'],
])('a plan that is %i ms old %s', async (age, what) => {
  const terminal = { ...processTerminal(), folder: folder.path, env: { BASALT_TOKEN: project.developer.token } };
  let now = 1_000_000;
  const plans = new Plans(await openProject(terminal, {}), () => now);
  const schema = { version: 1, collections: { [what]: { schema: null } } };
  const { plan } = (await plans.plan(schema)) as { plan: string };
  now += age;
  if (what === 'works') expect(await plans.apply(plan)).toMatchObject({ applied: ['create collection works'] });
  else await expect(plans.apply(plan)).rejects.toThrow('expire after 5 minutes');
});
