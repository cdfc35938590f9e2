import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import { idOf, type ProviderRecord, textIn } from './provider.ts';
import { ProviderList } from './provider-list.tsx';

interface Place {
  readonly projectId: string;
  readonly audienceId: string;
}

const isUnsubscribed = (contact: ProviderRecord): boolean => contact.unsubscribed === true;

const nameOf = (contact: ProviderRecord): string =>
  [textIn(contact, 'first_name'), textIn(contact, 'last_name')].filter(Boolean).join(' ');

const remove = async (place: Place, contact: ProviderRecord): Promise<void> => {
  await request('delete-project-contact', { ...place, contactId: idOf(contact) });
  const email = textIn(contact, 'email');
  const body = {
    email,
    firstName: textIn(contact, 'first_name') || null,
    lastName: textIn(contact, 'last_name') || null,
    unsubscribed: isUnsubscribed(contact),
  };
  say(t.mail.removed(email), () => {
    request('create-project-contact', { ...place, body }).catch(() => say(t.problem.unknown));
  });
};

/** The contacts of an audience. Unsubscribed ones stay in it and get no broadcasts. */
export const Contacts = (place: Place) => {
  const columns: readonly Column<ProviderRecord>[] = [
    { key: 'email', label: t.users.email, cell: (contact) => textIn(contact, 'email') },
    { key: 'name', label: t.mail.name, cell: (contact) => nameOf(contact) || '–' },
    {
      key: 'state',
      label: t.mail.state,
      cell: (contact) =>
        isUnsubscribed(contact) ? (
          <Badge kind="warning">{t.mail.unsubscribed}</Badge>
        ) : (
          <Badge kind="good">{t.mail.subscribed}</Badge>
        ),
    },
    {
      key: 'acts',
      label: '',
      cell: (contact) => (
        <>
          <Act
            kind="plain"
            onAct={async () => {
              const body = { unsubscribed: !isUnsubscribed(contact) };
              await request('update-project-contact', { ...place, contactId: idOf(contact), body });
            }}
          >
            {isUnsubscribed(contact) ? t.mail.subscribe : t.mail.unsubscribe}
          </Act>
          <Act kind="plain" onAct={() => remove(place, contact)}>
            {t.members.remove}
          </Act>
        </>
      ),
    },
  ];
  return (
    <ProviderList
      row="list-project-contacts"
      input={place}
      label={t.mail.contacts}
      columns={columns}
      empty={t.mail.noContacts}
      after="contacts"
    />
  );
};
