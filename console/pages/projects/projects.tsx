import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import type { Item } from '../../api/rows.ts';
import { numberText } from '../../text/number.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Unverified } from '../../ui/unverified.tsx';
import { NewProject } from './new-project.tsx';

type Project = Item<'list-projects'>;

/** With more projects, each card would cost a request that few readers look at. */
const maxCounted = 12;

const Counts = ({ projectId }: { readonly projectId: string }) => {
  const { data } = useQuery('get-usage', { projectId }).value;
  const text = (count: number | undefined): string => (count === undefined ? '…' : numberText(count));
  return (
    <dl class="counts">
      <div>
        <dt class="small muted">{t.usage.requestsToday}</dt>
        <dd>{text(data?.requestsToday)}</dd>
      </div>
      <div>
        <dt class="small muted">{t.nav.users}</dt>
        <dd>{text(data?.users)}</dd>
      </div>
    </dl>
  );
};

/** Name, plan and role of a project, and what happens in it. */
const ProjectCard = ({ project, counted }: { readonly project: Project; readonly counted: boolean }) => {
  const { _id, name, role, plan, createdAt } = project;
  return (
    <>
      <div class="card-head">
        <a class="card-link" href={`/projects/${_id}`}>
          {name}
        </a>
        <Badge>{plan}</Badge>
      </div>
      {counted && <Counts projectId={_id} />}
      <span class="small muted">
        {t.roles[role]} · {t.projects.created} <Time at={createdAt} />
      </span>
    </>
  );
};

export const Projects = () => {
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
      <Unverified />
      <List
        row="list-projects"
        input={{}}
        label={t.projects.title}
        card={(project) => <ProjectCard project={project} counted={(data?.total ?? 0) <= maxCounted} />}
        keyOf={({ _id }) => _id}
        empty={t.projects.empty}
        emptyAct={button}
        icon="overview"
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
