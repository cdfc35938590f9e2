import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import type { Item } from '../../api/rows.ts';
import { users } from '../../text/users.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { isId } from '../../ui/places.ts';
import { SearchBox } from '../../ui/search-box.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Cell } from '../documents/cell.tsx';
import { Avatar } from './avatar.tsx';
import { NewUser } from './new-user.tsx';
import { TurnOnAccounts } from './turn-on-accounts.tsx';
import { shownColumns } from './user-fields.ts';
import { userName } from './user-name.ts';
import { UserPanel } from './user-panel.tsx';
import { UserState } from './user-state.tsx';

type User = Item<'list-users'>;

const columnsOf = (items: readonly User[], addressOf: (id: string) => string): readonly Column<User>[] => [
  {
    key: 'email',
    label: users.user,
    cell: (user) => (
      <span class="named">
        <Avatar user={user} />
        <a href={addressOf(user._id)}>{userName(user)}</a>
      </span>
    ),
  },
  ...shownColumns(items).map((key): Column<User> => ({ key, label: key, cell: (user) => <Cell value={user[key]} /> })),
  { key: 'state', label: users.state, cell: (user) => <UserState user={user} /> },
  { key: 'created', label: t.users.created, cell: ({ createdAt }) => <Time at={String(createdAt)} /> },
];

/** Shown if the project has no user accounts. */
const NoAccounts = ({ projectId }: { readonly projectId: string }) => (
  <Page title={t.nav.users}>
    <Empty text={users.none} icon="users">
      <TurnOnAccounts projectId={projectId} />
    </Empty>
  </Page>
);

export const Users = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const making = useSignal(false);
  const input = { projectId, query: query.email ? { email: query.email } : {} };
  const { list } = useListPage('list-users', input);
  if (list.value.problem?.code === 'COLLECTION_NOT_FOUND') return <NoAccounts projectId={projectId} />;
  const make = (
    <>
      <LinkButton href={`/projects/${projectId}/settings/sign-in`}>{users.settings}</LinkButton>
      <Button
        kind="main-act"
        onClick={() => {
          making.value = true;
        }}
      >
        {users.new}
      </Button>
    </>
  );
  const addressOf = (id: string | undefined) => addressWith(path, query, { open: id });
  const open = (id: string | undefined) => route(addressOf(id));
  return (
    <Page title={t.nav.users} acts={make}>
      <div class={query.open ? 'halves' : undefined}>
        <div class="stack">
          <SearchBox
            label={users.search}
            words={query.email ?? ''}
            onSearch={(words) =>
              isId(words) ? open(words) : route(addressWith(path, query, { email: words, page: undefined }))
            }
          />
          <List
            row="list-users"
            input={input}
            label={t.nav.users}
            columns={columnsOf(query.open ? [] : (list.value.data?.items ?? []), addressOf)}
            keyOf={({ _id }) => _id}
            empty={query.email ? users.noneFit : users.empty}
            icon="users"
            selected={query.open}
            onOpen={({ _id }) => open(_id)}
          />
        </div>
        {query.open && (
          <UserPanel key={query.open} projectId={projectId} id={query.open} onClose={() => open(undefined)} />
        )}
      </div>
      {making.value && (
        <NewUser
          projectId={projectId}
          onClose={() => {
            making.value = false;
          }}
        />
      )}
    </Page>
  );
};
