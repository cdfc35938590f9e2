import { useEvery } from '../api/query-every.ts';
import { developer } from '../api/session.ts';
import { signOut } from '../api/sign-out.ts';
import { type Theme, theme } from '../api/theme.ts';
import { t } from '../text/words.ts';
import { Brand } from './brand.tsx';
import { keyText } from './keys.ts';
import { Menu } from './menu.tsx';
import { problemText } from './problem-text.ts';
import { say } from './toast.tsx';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

const ProjectMenu = ({ projectId }: { readonly projectId: string }) => {
  const { data, loading } = useEvery('list-projects', {});
  const present = data?.find(({ _id }) => _id === projectId);
  return (
    <Menu title={t.nav.projects} label={<>{present?.name ?? (loading ? '…' : t.nav.projects)} ▾</>}>
      {data?.map(({ _id, name, role }) => (
        <a key={_id} href={`/projects/${_id}`} aria-current={_id === projectId ? 'page' : undefined}>
          {name} <span class="muted">{t.roles[role]}</span>
        </a>
      ))}
      <a href="/">{t.projects.all}</a>
    </Menu>
  );
};

/** What stands in the line at the top of every screen: the project, the way to everything, the account. */
export const TopLine = ({ projectId, onGo }: { readonly projectId: string | undefined; readonly onGo: () => void }) => (
  <>
    <Brand />
    {projectId && <ProjectMenu projectId={projectId} />}
    <span class="grow" />
    <button type="button" class="button plain" onClick={onGo}>
      {t.palette.title} <kbd class="wide-only">{keyText('palette')}</kbd>
    </button>
    <Menu title={t.account.title} label={<>{developer.value?.email.split('@')[0]} ▾</>}>
      <a href="/account">{t.account.title}</a>
      <a href="/docs/" target="_blank" rel="noopener">
        {t.nav.docs}
      </a>
      {themes.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={theme.value === one}
          onClick={() => {
            theme.value = one;
          }}
        >
          {t.account.themes[one]} {theme.value === one && '✓'}
        </button>
      ))}
      <button type="button" onClick={() => void signOut().catch((error: unknown) => say(problemText(error)))}>
        {t.account.signOut}
      </button>
    </Menu>
  </>
);
