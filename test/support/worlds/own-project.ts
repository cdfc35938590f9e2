import { handler as connectDatabase } from '../../../functions/dashboard/database/connect-database.ts';
import { inProcess } from '../../../infra/local/in-process.ts';
import { startInvocations } from '../../../infra/local/invocations.ts';
import type { Answer } from '../clients/client.ts';
import { invoke } from '../clients/invoke.ts';
import type { TestProject } from './project.ts';

/**
 * Has the verifiers that handlers of this process call run in it too, where databases of tests are permitted. Answers
 * how to end it.
 */
export const serveVerifiers = async (): Promise<() => Promise<void>> => {
  const { environment, stop } = await startInvocations(inProcess());
  Object.assign(process.env, environment);
  return stop;
};

/** Connects a database to a project by the dashboard's handler, in this process. */
export const connectOwn = async (project: TestProject, uri: unknown): Promise<Omit<Answer, 'cookies'>> => {
  const { token } = project.developer;
  return invoke(connectDatabase, { token, params: { projectId: project.id }, body: { uri } });
};
