from planner.ui.app import main

main()
