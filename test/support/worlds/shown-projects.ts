import { inject } from 'vitest';
import { receiversAmong } from '../clients/receiver-addresses.ts';
import { pixel, uploadFile } from './files.ts';
import type { Developer } from './project.ts';
import { newProject } from './project.ts';
import { newUsersProject } from './users.ts';

/** The two projects of one developer that the screens of the console are of, with something in most lists. */
export interface ShownWorld {
  readonly full: string;
  readonly empty: string;
  readonly developer: Developer;
}

export const newShownProjects = async (): Promise<ShownWorld> => {
  const project = await newUsersProject();
  const { id: full, developer, addCollection, api, newUser } = project;
  await addCollection({ name: 'plants' });
  await addCollection({ name: 'orders', schema: [{ key: 'number', type: 'Number' }] });
  await api('POST', '/api/data/plants', { body: { name: 'Fern', price: 25, tags: ['green', 'shade'] } });
  await newUser();
  for (const visibility of ['private', 'public']) {
    const { path } = await uploadFile(project, pixel, 'image/png');
    await api('PATCH', '/api/storage/file', { body: { path, visibility } });
  }
  const [receiver] = receiversAmong(inject('stack').env.PERMITTED_ADDRESSES);
  const webhook = { url: `http://${receiver}/hooks`, events: ['user.created'] };
  await developer.dashboard('POST', `/api/projects/${full}/webhooks`, webhook);
  const { id: empty } = await newProject([], developer);
  return { full, empty, developer };
};
