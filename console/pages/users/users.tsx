import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso/router';
import { turnOnAccounts } from '../../api/accounts.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { addressWith } from '../../ui/address.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { NewUser } from './new-user.tsx';
import { userName } from './user-name.ts';
import { UserPanel } from './user-panel.tsx';
import { UserState } from './user-state.tsx';

type User = Item<'list-users'>;

const columnsOf = (addressOf: (id: string) => string): readonly Column<User>[] => [
  { key: 'email', label: t.users.email, cell: (user) => <a href={addressOf(user._id)}>{userName(user)}</a> },
  {
    key: 'state',
    label: t.users.state,
    cell: (user) => <UserState user={user} />,
  },
  { key: 'created', label: t.users.created, cell: ({ createdAt }) => <Time at={String(createdAt)} /> },
];

/** Shown if the project has no user accounts. */
const NoAccounts = ({ projectId }: { readonly projectId: string }) => (
  <Page title={t.nav.users}>
    <Empty text={t.users.none} icon="users">
      <Act
        kind="main-act"
        onAct={async () => {
          const hints = await turnOnAccounts(projectId);
          say([t.settings.saved, ...hints].join(' '));
        }}
      >
        {t.firstSteps.accounts}
      </Act>
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
    <Button
      kind="main-act"
      onClick={() => {
        making.value = true;
      }}
    >
      {t.users.new}
    </Button>
  );
  const addressOf = (id: string | undefined) => addressWith(path, query, { open: id });
  const open = (id: string | undefined) => route(addressOf(id));
  return (
    <Page title={t.nav.users} acts={make}>
      <div class={query.open ? 'halves' : undefined}>
        <div class="stack">
          <SearchBox
            label={t.users.search}
            words={query.email ?? ''}
            onSearch={(email) => route(addressWith(path, query, { email, page: undefined }))}
          />
          <List
            row="list-users"
            input={input}
            label={t.nav.users}
            columns={columnsOf(addressOf)}
            keyOf={({ _id }) => _id}
            empty={query.email ? t.users.noneFit : t.users.empty}
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
