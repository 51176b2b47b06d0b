import type { Vocabulary } from "./vocabulary.ts";

export const english: Vocabulary = {
  language: "en",
  concepts: {
    about:
      "what is in | what's in | what s in | whats in | what is inside | what is | what's | what does … do | what does … say | what does … contain | tell me about | what about | what are the contents | about",
    all: "all | every | everywhere | each",
    ask_me: "ask me | question me | let me choose | let me pick",
    asking:
      "how do i | how do you | how can i | how could i | how should i | how to | what happens | what would happen | why | should i | what if | don't | do not | dont | never",
    command: "command | commands | shell | terminal",
    content: "content | contents | containing | that says | saying | with the text | text",
    count: "how many | count | number of",
    create: "create | creates | creating | make | generate | produce | draft | compose | prepare | add a new",
    define: "defined | define | defines | definition | definitions | declared | declare | declaration | implemented",
    delete: "delete | remove | erase | rm | get rid of",
    empty: "empty | blank",
    explain:
      "how does … work | how do … work | analyze | analyse | analysis | explain | explains | explanation | describe | description of | walk me through",
    file: "file",
    files: "files",
    find: "find | search | searching | grep | locate | look for | look up | occurrences of | usages of | uses of | which files contain | which files use | which file contains",
    first: "first | top",
    folder: "folder | folders | directory | directories",
    greeting: "hello | hi | hey | good morning | good evening | good afternoon | howdy",
    help: "help | what can you do | what can i do | what do you do | who are you | what are you | how do you work | how can i use you | abilities",
    last: "last | final",
    lines: "line | lines",
    list: "list | ls | enumerate | which files are | what files are",
    named: "named | called | with the name",
    plan: "plan | plans | planning | roadmap",
    project: "project | projects | repo | repository | codebase | code base | workspace",
    read: "read | reads | reading | look at | go through",
    rename: "rename | renames | move | mv",
    replace: "replace | replaces | substitute | swap | change | edit",
    review: "review | reviews | inspect | check | critique | look over",
    run: "run | runs | execute | exec | launch | start | invoke",
    show: "show | display | print | cat | view | open | quote | let me see | output | give me the lines | give me lines",
    structure:
      "structure | structured | layout | laid out | architecture | organised | organized | organisation | organization | file tree | overview of the project | overview of this project",
    summarise:
      "summarise | summarize | summarises | summarizes | summarising | summarizing | sum up | sum … up | tldr | tl dr | condense | recap | main points | key points | digest",
    summary: "summary | summaries | overview | synopsis | abstract",
    tests: "test | tests | test suite | unit tests",
    thanks: "thanks | thank you | thx | cheers",
    this: "this | that | it | these | following | above | below",
    todo_list: "todo list | to do list | todolist | task list | tasklist | checklist | todos",
    used: "use | uses | used | using | calls | callers",
    where: "where",
    write: "write | writes | save | store | put | writing",
  },
  glue: "please | can | could | would | will | shall | should | you | i | me | my | we | us | the | a | an | to | of | for | and | or | then | also | just | now | kindly | is | are | was | be | been | do | does | did | in | into | on | at | from | with | within | under | inside | by | as | who | which | that | what | there | how | have | has | want | like | need | word | words | string | term | code | function | functions | class | method | variable | symbol | type | constant | its | their | your | out | up | some | any | new | s",
  targetBefore:
    /(?:^|[\s,;])(?:in|into|to|as|called|named|under)\s+(?:the |a |an )?(?:new )?(?:text )?(?:file )?(?:called |named )?$/,
  targetAfter: /^$(?!)/,
  folderBefore:
    /(?:^|\s)(?:(?:in|inside|under|within|below|(?:files|folder|structure|layout|contents?|overview) of)\s+(?:the |my |this )?(?:folder |directory )?|(?:folder|directory|ls)\s+)$/,
  folderAfter: /^\s?(?:folder|directory|dir)\b|^\sfor\s(?!me\b)/,
  planGoals: [
    /\bplan\b\s{0,3}(?:for|to|of|out|how to|on how to)?\b\s{0,3}:?\s{0,3}(.+)$/is,
    /^(.+?)[,:]?\s{1,3}(?:make|create|draw up|write|give me) (?:a|me a) plan\b/is,
  ],
  behindCommand:
    /(?:[,;]?\s(?:please|for me|thanks|thank you)\b.*$|[,;]?\s(?:and|then)\s(?:then |also )?(?:tell|show|say|explain|report|summari|give|check|let)\b.*$|\s(?:command|in the terminal|in the shell)[.!]?$)/is,
};
