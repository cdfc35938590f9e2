import type { Project } from '../../projects/project.ts';
import { type ListPart, onOwnAccount, pagination } from './own-account.ts';
import { pathId } from './provider-id.ts';

/** The audiences of the project's own account at the provider, as it lists them. */
export const listAudiences = (project: Project, part: ListPart): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.audiences.list(pagination(part), options));

/** Makes an audience; returns the provider's response. */
export const createAudience = (project: Project, { name }: { readonly name: string }): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.audiences.create({ name }, options));

/** Deletes an audience; returns the provider's response. */
export const deleteAudience = (project: Project, audienceId: string): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.audiences.remove(pathId('audience', audienceId), options));
