import { clock } from '../../core/clock.ts';
import { type Page, type PageRequest, pageFrom } from '../../core/page.ts';
import { emailsOf } from '../emails-of.ts';
import type { OwnedProject } from '../find-owned-project.ts';
import type { Role } from '../roles.ts';
import { type Invitation, toInvitation } from './invitation.ts';

/** Somebody who works in a project; `_id` is the developer's, 24 hex characters. */
export interface Member {
  readonly _id: string;
  readonly email: string;
  readonly role: Role;
  readonly addedAt: Date;
}

/** A page of those who work in a project: its owner, then the members as they came. */
export const listMembers = async ({ record }: OwnedProject, request: PageRequest): Promise<Page<Member>> => {
  const all = [
    { developerId: record.ownerId, role: 'owner', addedAt: record.createdAt } as const,
    ...(record.members ?? []),
  ];
  const shown = pageFrom(all, request);
  const emails = await emailsOf(shown.items.map(({ developerId }) => developerId));
  const items = shown.items.map(({ developerId, role, addedAt }): Member => {
    const _id = developerId.toHexString();
    return { _id, email: emails.get(_id) ?? '', role, addedAt };
  });
  return { ...shown, items };
};

/** A page of a project's open invitations, the latest first. */
export const listInvitations = ({ record }: OwnedProject, request: PageRequest): Page<Invitation> => {
  const open = (record.invitations ?? []).filter(({ expiresAt }) => expiresAt.getTime() > clock.now()).reverse();
  return pageFrom(open.map(toInvitation), request);
};
