import type { Project } from '../../projects/project.ts';
import { contactPathId, type ListPart, onOwnAccount, pagination, pathId } from './own-account.ts';

/** The audiences of the project's own account at the provider, as it lists them. */
export const listAudiences = (project: Project, part: ListPart): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.audiences.list(pagination(part), options));

export const createAudience = (project: Project, { name }: { readonly name: string }): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.audiences.create({ name }, options));

export const deleteAudience = (project: Project, audienceId: string): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.audiences.remove(pathId('audience', audienceId), options));

/** What is known of a contact, or is to be changed of it; `null` clears a name. */
interface Contact {
  readonly email?: string | undefined;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly unsubscribed?: boolean | undefined;
}

/** The contact in the provider's terms; what is left out stays as it is. */
const toProvider = ({ email, firstName, lastName, unsubscribed }: Contact) => ({
  email,
  first_name: firstName,
  last_name: lastName,
  unsubscribed,
});

const contactsOf = (audienceId: string): string => `/audiences/${pathId('audience', audienceId)}/contacts`;

const contactPath = (audienceId: string, contactId: string): string =>
  `${contactsOf(audienceId)}/${contactPathId(contactId)}`;

export const listContacts = (project: Project, audienceId: string, part: ListPart): Promise<unknown> =>
  onOwnAccount(project, (resend, options) =>
    resend.contacts.list({ ...pagination(part), audienceId: pathId('audience', audienceId) }, options),
  );

export const createContact = (project: Project, audienceId: string, contact: Contact): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.post(contactsOf(audienceId), toProvider(contact), options));

/** Changes fields of a contact, named by id or address; returns the provider's response. */
export const updateContact = (
  project: Project,
  audienceId: string,
  contactId: string,
  changes: Contact,
): Promise<unknown> =>
  onOwnAccount(project, (resend, options) =>
    resend.patch(contactPath(audienceId, contactId), toProvider(changes), options),
  );

/** Takes a contact, named by id or address, out of an audience; returns the provider's response. */
export const deleteContact = (project: Project, audienceId: string, contactId: string): Promise<unknown> =>
  onOwnAccount(project, (resend, options) => resend.delete(contactPath(audienceId, contactId), undefined, options));
