import { randomBytes } from 'node:crypto';
import type { PlanName } from '../../../shared/projects/project.ts';
import { newDeveloper, newProject, type TestProject } from './project.ts';

/** A key at the mail provider that opens an account of its own there. */
export const newProviderKey = (): string => `re_${randomBytes(12).toString('hex')}`;

/** A project of a plan, with its own key at the mail provider or the shared one, and settings besides. */
export const newMailProject = async (
  plan: PlanName,
  providerApiKey: string | null = newProviderKey(),
  settings: Readonly<Record<string, unknown>> = {},
): Promise<TestProject> => {
  const developer = await newDeveloper(plan);
  const project = await newProject([], developer);
  const changes = { providerApiKey, ...settings };
  const answer = await developer.dashboard('PATCH', `/api/projects/${project.id}`, changes);
  if (answer.status !== 200) throw new Error(`update project answered ${JSON.stringify(answer.body)}`);
  return project;
};
