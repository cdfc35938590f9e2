import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const key = 'basalt-theme';

/** How the page looks; `system` follows the reader's settings. Kept in this browser. */
export const theme = signal<Theme>('system');

/** Takes what was chosen before, and applies and keeps what is chosen from now on. */
export const applyTheme = (): void => {
  const kept = localStorage.getItem(key);
  if (kept === 'light' || kept === 'dark') theme.value = kept;
  effect(() => {
    if (theme.value === 'system') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(key);
    } else {
      document.documentElement.dataset.theme = theme.value;
      localStorage.setItem(key, theme.value);
    }
  });
};
