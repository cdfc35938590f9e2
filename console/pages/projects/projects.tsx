import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { NewProject } from './new-project.tsx';

type Project = Item<'list-projects'>;

const columns: readonly Column<Project>[] = [
  { key: 'name', label: t.projects.columns.name, cell: ({ _id, name }) => <a href={`/projects/${_id}`}>{name}</a> },
  { key: 'role', label: t.projects.columns.role, cell: ({ role }) => t.roles[role] },
  { key: 'plan', label: t.projects.columns.plan, cell: ({ plan }) => <Badge>{plan}</Badge> },
  { key: 'created', label: t.projects.columns.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export const Projects = () => {
  const { route } = useLocation();
  const making = useSignal(false);
  const { data } = useListPage('list-projects', {}).list.value;
  const make = () => {
    making.value = true;
  };
  const button = (
    <Button kind="main-act" onClick={make}>
      {t.projects.new}
    </Button>
  );
  return (
    <Page title={t.projects.title} acts={data?.total !== 0 && button}>
      <List
        row="list-projects"
        input={{}}
        label={t.projects.title}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={t.projects.empty}
        emptyAct={button}
        onOpen={({ _id }) => route(`/projects/${_id}`)}
      />
      {making.value && (
        <NewProject
          onClose={() => {
            making.value = false;
          }}
        />
      )}
    </Page>
  );
};
