import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const key = 'basalt-theme';

/** The colour theme. `system` follows the settings of the device. Stored in this browser. */
export const theme = signal<Theme>('system');

/** Applies the stored theme, and stores each change. */
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
