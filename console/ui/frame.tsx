import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
import { request } from '../api/request.ts';
import { developer, signedOut } from '../api/session.ts';
import { type Theme, theme } from '../api/theme.ts';
import { t } from '../text/words.ts';
import { Brand } from './brand.tsx';
import { Dialog } from './dialog.tsx';
import { Menu } from './menu.tsx';
import { Palette } from './palette.tsx';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { Side } from './side.tsx';
import { leaving, UnsavedGuard } from './unsaved.tsx';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

const signOut = async (): Promise<void> => {
  await request('sign-out-developer', {});
  signedOut();
};

const ProjectMenu = ({ projectId }: { readonly projectId: string }) => {
  const { data } = useQuery('list-projects', { query: { limit: 100 } }).value;
  const present = data?.items.find(({ _id }) => _id === projectId);
  return (
    <Menu title={t.nav.projects} label={<>{present?.name ?? '…'} ▾</>}>
      {data?.items.map(({ _id, name, role }) => (
        <a key={_id} href={`/projects/${_id}`} aria-current={_id === projectId ? 'page' : undefined}>
          {name} <span class="muted">{t.roles[role]}</span>
        </a>
      ))}
      <a href="/">{t.projects.all}</a>
    </Menu>
  );
};

/** The line at the top, the column at the left, and the screen. */
export const Frame = ({ children }: { readonly children: ComponentChildren }) => {
  const { path, route } = useLocation();
  const open = useSignal(false);
  const projectId = /^\/projects\/([^/]+)/.exec(path)?.[1];
  const asking = useSignal<'palette' | 'keys' | undefined>(undefined);
  const shortcuts = useMemo<Shortcuts>(() => {
    const go = (area: string) => () => {
      if (projectId) leaving(() => route(`/projects/${projectId}${area}`));
    };
    const ask = (what: 'palette' | 'keys') => () => {
      asking.value = what;
    };
    return {
      'mod+k': ask('palette'),
      '?': ask('keys'),
      'g o': go(''),
      'g u': go('/users'),
      'g f': go('/files'),
      'g m': go('/mail'),
      'g s': go('/settings'),
    };
  }, [projectId, route, asking]);
  useShortcuts(shortcuts);
  const close = () => {
    asking.value = undefined;
  };
  useEffect(() => {
    open.value = false;
  }, [path]);
  return (
    <>
      <div class="frame">
        <header class="top">
          {projectId && (
            <button
              type="button"
              class="button plain menu-button"
              aria-label={t.acts.menu}
              aria-expanded={open.value}
              onClick={() => {
                open.value = !open.value;
              }}
            >
              ☰
            </button>
          )}
          <Brand />
          {projectId && <ProjectMenu projectId={projectId} />}
          <span class="grow" />
          <button
            type="button"
            class="button plain"
            onClick={() => {
              asking.value = 'palette';
            }}
          >
            <span class="wide-only">{t.palette.title}</span> <kbd>⌘K</kbd>
          </button>
          <Menu title={t.account.title} label={<>{developer.value?.email.split('@')[0]} ▾</>}>
            <a href="/account">{t.account.title}</a>
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
            <button type="button" onClick={() => void signOut()}>
              {t.account.signOut}
            </button>
          </Menu>
        </header>
        {projectId && (
          <nav class="side" data-open={open.value ? '' : undefined} aria-label={t.acts.menu}>
            <Side projectId={projectId} path={path} />
          </nav>
        )}
        <main class="main" style={projectId ? undefined : { gridColumn: '1 / -1' }}>
          {children}
        </main>
      </div>
      <UnsavedGuard />
      {asking.value === 'palette' && <Palette projectId={projectId} onClose={close} />}
      {asking.value === 'keys' && (
        <Dialog title={t.keyboard.title} onClose={close}>
          <dl class="keys">
            {t.keyboard.keys.map(([keys, text]) => (
              <div key={keys} class="row">
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
};
