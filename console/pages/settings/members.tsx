import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { developer } from '../../api/session.ts';
import { t } from '../../text/words.ts';
import { EmailField } from '../../ui/account-fields.tsx';
import { Act } from '../../ui/act.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { List } from '../../ui/list.tsx';
import { Select } from '../../ui/select.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

type Member = Item<'list-members'>;
type Invitation = Item<'list-invitations'>;

const roles = ['viewer', 'admin'] as const;
type Role = (typeof roles)[number];

const Invite = ({ projectId }: { readonly projectId: string }) => {
  const { draft, set, replace } = useDraft<{ email: string; role: Role }>({ email: '', role: 'viewer' });
  const invite = async () => {
    const sent = draft.peek();
    await request('create-invitation', { projectId, body: sent });
    say(t.members.invited(sent.email));
    replace(sent, { email: '', role: 'viewer' });
  };
  return (
    <Form act={t.members.invite} onSubmit={invite}>
      {(wrong) => (
        <div class="row">
          <EmailField value={draft.value.email} onInput={set('email')} wrong={wrong('email')} />
          <Select
            label={t.members.role}
            value={draft.value.role}
            options={roles.map((role) => [role, t.roles[role]])}
            onInput={set('role')}
          />
        </div>
      )}
    </Form>
  );
};

export const Members = ({ project: { _id: projectId, role: own } }: SettingsProps) => {
  const columns: readonly Column<Member>[] = [
    { key: 'email', label: t.users.email, cell: ({ email }) => email },
    { key: 'role', label: t.members.role, cell: ({ role }) => t.roles[role] },
    { key: 'added', label: t.members.added, cell: ({ addedAt }) => <Time at={addedAt} /> },
    {
      key: 'acts',
      label: '',
      cell: ({ _id, email, role }) =>
        role !== 'owner' && (
          <>
            {own !== 'viewer' && (
              <Act
                kind="plain"
                onAct={async () => {
                  await request('update-member', {
                    projectId,
                    developerId: _id,
                    body: { role: role === 'admin' ? 'viewer' : 'admin' },
                  });
                }}
              >
                {t.members.make(t.roles[role === 'admin' ? 'viewer' : 'admin'])}
              </Act>
            )}
            {(own !== 'viewer' || _id === developer.value?._id) && (
              <ConfirmedAct
                kind="plain"
                act={_id === developer.value?._id ? t.members.leave : t.members.remove}
                text={t.members.removeText}
                name={email}
                onConfirm={async () => {
                  await request('delete-member', { projectId, developerId: _id });
                }}
              />
            )}
          </>
        ),
    },
  ];
  const invitations: readonly Column<Invitation>[] = [
    { key: 'email', label: t.users.email, cell: ({ email }) => email },
    { key: 'role', label: t.members.role, cell: ({ role }) => t.roles[role] },
    { key: 'expires', label: t.members.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      key: 'acts',
      label: '',
      cell: ({ _id }) => (
        <Act
          kind="plain"
          onAct={async () => {
            await request('delete-invitation', { projectId, id: _id });
          }}
        >
          {t.members.withdraw}
        </Act>
      ),
    },
  ];
  return (
    <div class="stack">
      <p class="muted">{t.members.why}</p>
      {own !== 'viewer' && <Invite projectId={projectId} />}
      <List
        row="list-members"
        input={{ projectId }}
        label={t.settings.parts.members}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={t.members.none}
      />
      <h2>{t.members.invitations}</h2>
      <List
        row="list-invitations"
        input={{ projectId }}
        label={t.members.invitations}
        columns={invitations}
        keyOf={({ _id }) => _id}
        empty={t.members.noInvitations}
      />
    </div>
  );
};
