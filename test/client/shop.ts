import { inject } from 'vitest';
import { type Basalt, basalt, type Options } from '../../client/src/index.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';
import type { Schema } from './schema.ts';

/** Creates the client’s test project: `tasks` of users, and `notes` without a schema. */
export const newShop = async (): Promise<UsersProject> => {
  const project = await newUsersProject();
  await project.addCollection({
    name: 'tasks',
    schema: [
      { key: 'title', type: 'String', required: true },
      { key: 'views', type: 'Number' },
      { key: 'tags', type: 'Array', items: { type: 'String' } },
    ],
    rls: { enabled: true, mode: 'private' },
  });
  await project.addCollection({ name: 'notes' });
  return project;
};

/** Creates clients: with the secret key, as on a server, and with the publishable key, as in an app. */
export const asServer = (project: UsersProject, url = inject('stack').baseUrl, options: Options = {}): Basalt<Schema> =>
  basalt<Schema>(url, project.secretKey, options);
export const asApp = (project: UsersProject, url = inject('stack').baseUrl, options: Options = {}): Basalt<Schema> =>
  basalt<Schema>(url, project.publishableKey, options);
