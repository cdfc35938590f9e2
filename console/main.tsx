import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { loadService } from './api/service.ts';
import { applyTheme } from './api/theme.ts';
import { Pages } from './pages.tsx';
import { Toasts } from './ui/toast.tsx';

applyTheme();
await loadService();

const root = document.getElementById('console');
if (root) {
  render(
    <LocationProvider>
      <Pages />
      <Toasts />
    </LocationProvider>,
    root,
  );
}
