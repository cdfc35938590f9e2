import type { PaginationOptions } from 'resend';
import { callProvider } from '../../clients/resend-proxy.ts';
import type { Project } from '../../projects/project.ts';
import { requireOwnKey } from './own-key.ts';
import { pathId } from './provider-id.ts';

/** Which part of one of the provider's lists: at most `limit` (20 unless given, up to 100), after or before an id. */
export interface ListPart {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** The part of a list in the provider's terms. */
export const pagination = ({ limit, after, before }: ListPart): PaginationOptions => ({
  ...(limit !== undefined && { limit }),
  ...(after === undefined ? before !== undefined && { before } : { after }),
});

/** The audiences of the project's own account at the provider, as it lists them. */
export const listAudiences = async (project: Project, part: ListPart): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  return callProvider(apiKey, (resend, signal) => resend.audiences.list(pagination(part), { signal }));
};

/** Makes an audience; returns the provider's response. */
export const createAudience = async (project: Project, { name }: { readonly name: string }): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  return callProvider(apiKey, (resend, signal) => resend.audiences.create({ name }, { signal }));
};

/** Deletes an audience; returns the provider's response. */
export const deleteAudience = async (project: Project, audienceId: string): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  const id = pathId('audience', audienceId);
  return callProvider(apiKey, (resend, signal) => resend.audiences.remove(id, { signal }));
};
