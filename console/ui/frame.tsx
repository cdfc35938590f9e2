import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { t } from '../text/words.ts';
import { Framed } from './alone.tsx';
import { KeysHelp } from './keys-help.tsx';
import { Palette } from './palette.tsx';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { Side } from './side.tsx';
import { TopLine } from './top-line.tsx';
import { leaving, UnsavedGuard } from './unsaved.tsx';

type Asked = 'palette' | 'help';

/** The top bar, the side bar and the screen. */
export const Frame = ({ children }: { readonly children: ComponentChildren }) => {
  const { path, route } = useLocation();
  const open = useSignal(false);
  const main = useRef<HTMLElement>(null);
  const projectId = /^\/projects\/([^/]+)/.exec(path)?.[1];
  const asking = useSignal<Asked | undefined>(undefined);
  const ask = (what: Asked) => () => {
    asking.value = what;
  };
  const shortcuts = useMemo<Shortcuts>(() => {
    const go = (area: string) => () => {
      if (projectId) leaving(() => route(`/projects/${projectId}${area}`));
    };
    return {
      palette: ask('palette'),
      help: ask('help'),
      overview: go(''),
      users: go('/users'),
      files: go('/files'),
      mail: go('/mail'),
      settings: go('/settings'),
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
      <button type="button" class="button skip" onClick={() => main.current?.focus()}>
        {t.nav.skip}
      </button>
      <div class="frame">
        <header class="top">
          {projectId && (
            <button
              type="button"
              class="button plain menu-button"
              aria-label={t.nav.title}
              aria-expanded={open.value}
              onClick={() => {
                open.value = !open.value;
              }}
            >
              ☰
            </button>
          )}
          <TopLine projectId={projectId} onGo={ask('palette')} />
        </header>
        {projectId && (
          <nav class="side" data-open={open.value ? '' : undefined} aria-label={t.nav.title}>
            <Side projectId={projectId} path={path} />
          </nav>
        )}
        <main ref={main} tabIndex={-1} class="main" style={projectId ? undefined : { gridColumn: '1 / -1' }}>
          <Framed.Provider value={true}>{children}</Framed.Provider>
        </main>
      </div>
      <UnsavedGuard />
      {asking.value === 'palette' && <Palette projectId={projectId} onClose={close} />}
      {asking.value === 'help' && <KeysHelp onClose={close} />}
    </>
  );
};
