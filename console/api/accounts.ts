import { problemOf } from './problem.ts';
import { request } from './request.ts';

const required = { type: 'String', required: true } as const;
const schema = [
  { key: 'email', ...required, unique: true },
  { key: 'password', ...required },
];

/** Turns on user accounts and creates the `users` collection if it does not exist. Returns hints. */
export const turnOnAccounts = async (projectId: string): Promise<readonly string[]> => {
  try {
    await request('create-collection', { projectId, body: { name: 'users', schema } });
  } catch (error) {
    if (problemOf(error).code !== 'COLLECTION_EXISTS') throw error;
  }
  const { hints } = await request('update-project', { projectId, body: { authEnabled: true } });
  return hints ?? [];
};
