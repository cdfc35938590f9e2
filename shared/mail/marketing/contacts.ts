import { callProvider } from '../../clients/resend-proxy.ts';
import type { Project } from '../../projects/project.ts';
import { type ListPart, pagination } from './audiences.ts';
import { requireOwnKey } from './own-key.ts';
import { contactPathId, pathId } from './provider-id.ts';

/** What is known of a contact; `null` clears a name. */
export interface ContactFields {
  readonly email: string;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly unsubscribed?: boolean | undefined;
}

/** The fields that change. */
export type ContactChanges = { readonly [K in keyof ContactFields]?: ContactFields[K] | undefined };

/** The contact in the provider's terms; what is left out stays as it is. */
const toProvider = ({ email, firstName, lastName, unsubscribed }: ContactChanges) => ({
  email,
  first_name: firstName,
  last_name: lastName,
  unsubscribed,
});

const contactsOf = (audienceId: string): string => `/audiences/${pathId('audience', audienceId)}/contacts`;

/** The contacts of an audience, as the provider lists them. */
export const listContacts = async (project: Project, audienceId: string, part: ListPart): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  const options = { ...pagination(part), audienceId: pathId('audience', audienceId) };
  return callProvider(apiKey, (resend, signal) => resend.contacts.list(options, { signal }));
};

/** Adds a contact to an audience; returns the provider's response. */
export const createContact = async (project: Project, audienceId: string, contact: ContactFields): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  const path = contactsOf(audienceId);
  return callProvider(apiKey, (resend, signal) => resend.post(path, toProvider(contact), { signal }));
};

/** Changes fields of a contact, named by id or address; returns the provider's response. */
export const updateContact = async (
  project: Project,
  audienceId: string,
  contactId: string,
  changes: ContactChanges,
): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  const path = `${contactsOf(audienceId)}/${contactPathId(contactId)}`;
  return callProvider(apiKey, (resend, signal) => resend.patch(path, toProvider(changes), { signal }));
};

/** Takes a contact, named by id or address, out of an audience; returns the provider's response. */
export const deleteContact = async (project: Project, audienceId: string, contactId: string): Promise<unknown> => {
  const apiKey = await requireOwnKey(project);
  const path = `${contactsOf(audienceId)}/${contactPathId(contactId)}`;
  return callProvider(apiKey, (resend, signal) => resend.delete(path, undefined, { signal }));
};
